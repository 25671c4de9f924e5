package manifest_test

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest/mistakes"
)

// TestMistakes: each mistake has its sentence, with its position. A good object beside it is read.
func TestMistakes(t *testing.T) {
	for _, test := range mistakes.All {
		t.Run(test.Name, func(t *testing.T) {
			if !strings.Contains(test.Text, test.From) {
				t.Fatalf("%q is not in the good text", test.From)
			}
			text, read := test.Manifest(), 0
			take := func(o *manifest.Object) error {
				if wrong := o.Judge(); len(wrong) > 0 {
					return wrong
				}
				read++
				return nil
			}
			got := ""
			if err := manifest.Read("f.yaml", strings.NewReader(text), take); err != nil {
				got = err.Error()
			}
			if got != test.Want {
				t.Errorf("got  %s\nwant %s", got, test.Want)
			}
			if want := test.Want == ""; want != (read == 1) {
				t.Errorf("%d objects", read)
			}

			// The good documents before and after are read.
			if test.Text == mistakes.JobText || test.Text == mistakes.CronText {
				read = 0
				_ = manifest.Read("f.yaml", strings.NewReader(mistakes.JobText+"---\n"+text+"---\n"+mistakes.CronText), take)
				if read < 2 {
					t.Errorf("%d objects", read)
				}
			}
		})
	}
}
