package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/odd-cli/odd/board/review"
)

// Who presses Ctrl-C at a question is not asked to press Enter too.
func TestAnsweredEndsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	typed, keys := io.Pipe() // nobody types
	defer keys.Close()
	var shown bytes.Buffer
	by, err := AwaitAnswer(ctx, &shown, func() (review.Human, error) {
		stop()
		_, err := io.ReadAll(typed)
		return review.Human{}, err
	})
	if !errors.Is(err, context.Canceled) || by != (review.Human{}) || shown.String() != "\n" {
		t.Errorf("%v, %v, %q", by, err, shown.String())
	}
}
