"""Commands about official classifications."""
