package testfile

import (
	"regexp"
	"slices"
	"strings"
)

const nouns = "pod|Pod|job|Job|CronJob|run|index|completion|success|failure|restart|retry|object|second|minute|hour|" +
	"day|node|container|UID|seed|field|change|finding|line|event|time|failed pod|active pod"

var (
	oneOfMany = regexp.MustCompile(`(\w+ )?\b1 (` + plurals() + `|are|were|have|exist|count)\b`)
	manyOfOne = regexp.MustCompile(`(\w+ )?\b(0|[2-9]|[1-9]\d+) (` + nouns + `)( |[.,;:)]|$)`)
)

// numbered lists words before a number that is a name or a limit. Such a number does not count
// things.
var numbered = []string{
	"index", "rule", "code", "minute", "but", "backoffLimit", "backoffLimitPerIndex", "parallelism", "completions",
}

func plurals() string {
	var all []string
	for noun := range strings.SplitSeq(nouns, "|") {
		switch {
		case noun == "retry":
			all = append(all, "retries")
		case noun == "index" || noun == "success":
			all = append(all, noun+"es")
		default:
			all = append(all, noun+"s")
		}
	}
	return strings.Join(all, "|")
}

// WrongCounts returns the counts in a text in which singular and plural are confused, such as "1
// pods" and "2 pod".
func WrongCounts(text string) (all []string) {
	for _, find := range []*regexp.Regexp{oneOfMany, manyOfOne} {
		for _, at := range find.FindAllStringSubmatchIndex(text, -1) {
			before := ""
			if at[2] >= 0 {
				before = strings.TrimSpace(text[at[2]:at[3]])
			}
			found := strings.TrimSpace(text[at[0]:at[1]])
			// A number may be a part of a time or of a fraction.
			isPart := at[2] < 0 && at[0] > 0 && strings.ContainsRune(".:-/,+=T", rune(text[at[0]-1]))
			if !isPart && !slices.Contains(numbered, before) {
				all = append(all, found)
			}
		}
	}
	return all
}
