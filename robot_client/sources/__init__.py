"""Who asks for targets. The loop asks one of them per tick; nothing else moves an arm."""
