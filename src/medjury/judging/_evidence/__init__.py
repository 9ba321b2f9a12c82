"""Quotations: do they really stand in the text, whole and in its sense?"""
