# SPDX-License-Identifier: MIT
project = "vramlab"
author = "the vramlab developers"
copyright = author
extensions = []
exclude_patterns = ["README*"]
html_theme = "alabaster"
highlight_language = "none"
