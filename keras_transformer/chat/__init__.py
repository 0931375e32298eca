"""The chatbot: generation, retrieval from the datastore, and confidence."""
