package budget

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MicroUSD is money: millionths of a US dollar.
type MicroUSD int64

const perDollar = 1_000_000

// Parse reads a decimal dollar amount ("0.25", "1", "0.4") exactly: digits, at
// most one point with digits on both sides, at most six decimals that are not
// zero. A sign, an exponent, a currency mark or a thousands separator is an
// error, because each of them is read differently somewhere.
func Parse(s string) (MicroUSD, error) {
	whole, frac, point := strings.Cut(s, ".")
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, fmt.Errorf("%q is negative; write an amount of at least 0", s)
	case !digits(whole) || point && !digits(frac):
		return 0, fmt.Errorf("%q is not an amount of dollars; write it like \"0.25\"", s)
	}
	frac = strings.TrimRight(frac, "0")
	if len(frac) > 6 {
		return 0, fmt.Errorf("%q is finer than a millionth of a dollar; round it to six decimals", s)
	}
	dollars, err := strconv.ParseInt(whole, 10, 64)
	if errors.Is(err, strconv.ErrRange) || dollars > math.MaxInt64/perDollar {
		return 0, fmt.Errorf("%q is more money than odd can count", s)
	}
	micros, _ := strconv.ParseInt(frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if sum, ok := add(MicroUSD(dollars*perDollar), MicroUSD(micros)); ok {
		return sum, nil
	}
	return 0, fmt.Errorf("%q is more money than odd can count", s)
}

// String prints dollars with as many decimals as needed, at least two.
// Parse(m.String()) is m for every m of at least 0.
func (m MicroUSD) String() string {
	sign, u := "", uint64(m)
	if m < 0 {
		sign, u = "-", -u
	}
	frac := strings.TrimRight(fmt.Sprintf("%06d", u%perDollar), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return fmt.Sprintf("%s%d.%s", sign, u/perDollar, frac)
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
