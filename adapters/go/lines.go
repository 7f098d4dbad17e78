package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// The lines of JSON that every Go program exchanges with the suite. A program adds its request, respond, which answers
// one, and failure and class, which make an answer of an error and name it.

type answer map[string]any

// unsupported means that the library or the client has no way to do what was asked.
type unsupported string

func (u unsupported) Error() string { return string(u) }

// versionOf is the version of a module in this program.
func versionOf(library string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == library {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}

// panicked is the answer of a library that ended in a panic.
func panicked(thrown any) answer {
	return answer{
		"status": "error", "class": fmt.Sprintf("panic: %T", thrown), "message": fmt.Sprint(thrown), "panicked": true,
	}
}

func main() {
	requests := bufio.NewReaderSize(os.Stdin, 1<<16)
	answers := bufio.NewWriter(os.Stdout)
	for {
		line, err := requests.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var asked request
			var made answer
			if wrong := json.Unmarshal(line, &asked); wrong != nil {
				made = failure(wrong)
			} else {
				made = respond(asked)
			}
			made["id"] = asked.ID
			text, wrong := json.Marshal(made)
			if wrong != nil {
				text, _ = json.Marshal(answer{
					"id": asked.ID, "status": "error", "class": class(wrong), "message": wrong.Error(),
				})
			}
			answers.Write(append(text, '\n'))
			answers.Flush()
		}
		if err != nil {
			return
		}
	}
}
