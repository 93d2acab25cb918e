// The official OpenAI package for Go.

import { type Client, quoted } from './client.ts'

export const openaiGo: Client = {
  id: 'openai-go',
  name: 'OpenAI Go',
  kind: 'code',
  steps: ({ base, key, model }) => [
    { where: null, text: 'go get github.com/openai/openai-go/v3' },
    {
      where: 'main.go',
      text: `package main

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(
		option.WithBaseURL(${quoted(`${base}/v1/`)}),
		option.WithAPIKey(${quoted(key)}),
	)
	completion, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:    ${quoted(model)},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(completion.Choices[0].Message.Content)
}`,
    },
  ],
}
