"""Handwritten digits, from scans to a standalone C++ program that classifies and learns."""
