"""The work that is timed: the data, the models and the training loops of the lesson."""
