"""An HTTP server for trained runs and exports."""
