"""The floating-point formats that derivatives are taken in."""

import math

from mpmath import mp


class Format:
    """A binary floating-point format of IEEE 754's kind."""

    def __init__(self, width, fraction, tiny=None):
        self.width, self.fraction = width, fraction
        self.emax = 2 ** (width - fraction - 2) - 1
        self.emin = 1 - self.emax
        # 2^tiny: below it, derivatives count as small, and errors are absolute.
        self.tiny = self.emin + 8 if tiny is None else tiny

    def unit(self, value, least):
        """The unit in the last place of `value`, or of 2^least if greater."""
        exponent = mp.frexp(value)[1] - 1 if value else least
        return mp.ldexp(1, max(exponent, least, self.emin) - self.fraction)

    def round(self, value, nearest=mp.nint):
        """The float that is `value`, an mpf, in this format. `nearest` takes a number
        to an integer: mp.nint a half to an even one."""
        if not mp.isfinite(value) or value == 0:
            return float(value)
        unit = self.unit(value, self.emin)
        rounded = nearest(value / unit) * unit
        overflows = mp.frexp(rounded)[1] - 1 > self.emax
        return float(mp.sign(value) * mp.inf if overflows else rounded)

    def encode(self, value):
        """The bits of `value`, a float that exists in this format."""
        sign = int(math.copysign(1, value) < 0) << (self.width - 1)
        if not math.isfinite(value):
            quiet = int(math.isnan(value)) << (self.fraction - 1)
            return sign | (2 * self.emax + 1) << self.fraction | quiet
        exponent = max(math.frexp(value)[1] - 1, self.emin) if value else self.emin
        significand = int(math.ldexp(abs(value), self.fraction - exponent))
        # The leading bit of a normal number carries into the exponent.
        return sign | ((exponent - self.emin) << self.fraction) + significand

    def decode(self, bits):
        """The float of which `bits` are the bits."""
        sign = -1 if bits >> (self.width - 1) & 1 else 1
        exponent = bits >> self.fraction & (2 * self.emax + 1)
        fraction = bits & ((1 << self.fraction) - 1)
        if exponent == 2 * self.emax + 1:
            return math.nan if fraction else sign * math.inf
        if exponent:
            fraction |= 1 << self.fraction
        return sign * math.ldexp(fraction, max(exponent, 1) - 1 + self.emin - self.fraction)


# Types narrower than f32 are computed in f32.
FORMATS = {
    "f64": Format(64, 52),
    "f32": Format(32, 23),
    "f16": Format(16, 10, tiny=-118),
    "bf16": Format(16, 7),
}
