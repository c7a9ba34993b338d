package stats

import "errors"

// ErrEmpty is returned where there is nothing to choose from.
var ErrEmpty = errors.New("no numbers")

// Largest returns the largest of the numbers.
func Largest(numbers []int) (int, error) {
	if len(numbers) == 0 {
		return 0, ErrEmpty
	}
	largest := numbers[0]
	for _, number := range numbers[1:] {
		if number > largest {
			largest = <|>
		}
	}
	return largest, nil
}
