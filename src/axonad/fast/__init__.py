"""Engines that compute what ``model/`` defines, faster; each is tested against its plain twin."""
