"""The corpus of the demonstration chatbot, with questions to ask it."""
