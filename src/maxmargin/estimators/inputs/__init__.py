"""What users hand over, checked and as flat arrays: one room for each kind of data. Import from the room itself."""
