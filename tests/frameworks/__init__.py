"""Each protocol with the package that defines it; without the package its tests are left out."""
