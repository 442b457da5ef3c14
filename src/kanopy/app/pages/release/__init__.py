"""Release: settings, models, the preview, the release with its verdict."""
