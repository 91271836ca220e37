"""Why Is My GPU Slower? The tested code behind the guide."""
