"""What a chatbot has at hand besides its weights: the exchanges that it was trained on or taught."""
