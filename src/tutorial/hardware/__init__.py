"""What machine is this?"""
