"""Which tile instead: footprint, order, time, and the ranked list."""
