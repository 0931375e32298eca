"""What people start: the command line and the chat. Everything they do is done elsewhere."""
