"""From stored raw outcomes to the results page and results.json."""
