// The official clients, each requesting each feature in its own way, and what they read from the replies.

import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type Part } from '@google/genai'
import OpenAI from 'openai'
import { answerSchema, type Feature, png, type Understood, weatherSchema } from './said.ts'

export interface Client {
  readonly name: string
  /** Features that its format can express. */
  readonly has: readonly Feature[]
  /** Rejects with the client's own error if the request was refused. */
  ask(feature: Feature, model: string, stream: boolean): Promise<Understood>
}

const question = 'What is the weather in Paris and Rome?'
const pixel = `data:image/png;base64,${png}`
const usesTools = (feature: Feature) => feature === 'tools' || feature === 'parallel tools'

export function openaiChat(baseURL: string, apiKey: string): Client {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  return {
    name: 'chat completions',
    has: [
      'text',
      'tools',
      'parallel tools',
      'vision',
      'structured output',
      'reasoning',
      'caching',
      'usage',
    ],
    async ask(feature, model, stream) {
      const body = { model, messages: chatMessages(feature), ...chatOptions(feature) }
      const thoughts: string[] = []
      const running = stream
        ? client.chat.completions.stream({ ...body, stream_options: { include_usage: true } })
        : null
      running?.on('chunk', (chunk) => {
        const delta = chunk.choices[0]?.delta ?? {}
        if ('reasoning_content' in delta) thoughts.push(String(delta.reasoning_content))
      })
      const reply =
        (await running?.finalChatCompletion()) ?? (await client.chat.completions.create(body))
      const message: OpenAI.ChatCompletionMessage & { readonly reasoning_content?: string } =
        reply.choices[0]?.message ?? fail('no choice')
      const { usage } = reply
      const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0
      const thought = usage?.completion_tokens_details?.reasoning_tokens ?? 0
      return {
        text: message.content ?? '',
        reasoning: stream ? thoughts.join('') : (message.reasoning_content ?? ''),
        calls: (message.tool_calls ?? []).map((call) =>
          call.type === 'function'
            ? { name: call.function.name, input: JSON.parse(call.function.arguments) }
            : fail('no function'),
        ),
        usage: {
          input: (usage?.prompt_tokens ?? 0) - cached,
          cached,
          output: (usage?.completion_tokens ?? 0) - thought,
          reasoning: thought,
        },
      }
    },
  }
}

function chatMessages(feature: Feature): OpenAI.ChatCompletionMessageParam[] {
  const image = { type: 'image_url', image_url: { url: pixel } } as const
  const text = { type: 'text', text: question } as const
  return [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: feature === 'vision' ? [text, image] : question },
  ]
}

function chatOptions(feature: Feature) {
  if (usesTools(feature)) {
    const tool = { name: 'get_weather', description: 'Weather now.', parameters: weatherSchema }
    return { tools: [{ type: 'function' as const, function: tool }] }
  }
  if (feature === 'reasoning') return { reasoning_effort: 'high' as const }
  if (feature !== 'structured output') return {}
  const json_schema = { name: 'answer', schema: answerSchema, strict: true }
  return { response_format: { type: 'json_schema' as const, json_schema } }
}

export function openaiResponses(baseURL: string, apiKey: string): Client {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  return {
    name: 'responses',
    has: openaiChat(baseURL, apiKey).has,
    async ask(feature, model, stream) {
      const body = { model, input: responsesInput(feature), ...responsesOptions(feature) }
      const reply = stream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body)
      const { usage } = reply
      const cached = usage?.input_tokens_details.cached_tokens ?? 0
      const reasoning = usage?.output_tokens_details.reasoning_tokens ?? 0
      const thoughts = reply.output.flatMap((item) =>
        item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
      )
      return {
        text: reply.output_text,
        reasoning: thoughts.map(({ text }) => text).join(''),
        calls: reply.output.flatMap((item) =>
          item.type === 'function_call'
            ? [{ name: item.name, input: JSON.parse(item.arguments) }]
            : [],
        ),
        usage: {
          input: (usage?.input_tokens ?? 0) - cached,
          cached,
          output: (usage?.output_tokens ?? 0) - reasoning,
          reasoning,
        },
      }
    },
  }
}

function responsesInput(feature: Feature): OpenAI.Responses.ResponseInput {
  const text = { type: 'input_text', text: question } as const
  const image = { type: 'input_image', image_url: pixel, detail: 'auto' } as const
  return [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: feature === 'vision' ? [text, image] : question },
  ]
}

function responsesOptions(feature: Feature) {
  const store = { store: false }
  if (usesTools(feature)) {
    const tool = { type: 'function' as const, name: 'get_weather', description: 'Weather now.' }
    return { ...store, tools: [{ ...tool, parameters: { ...weatherSchema }, strict: false }] }
  }
  if (feature === 'reasoning')
    return { ...store, reasoning: { effort: 'high' as const, summary: 'auto' as const } }
  if (feature !== 'structured output') return store
  const format = { type: 'json_schema' as const, name: 'answer', schema: { ...answerSchema } }
  return { ...store, text: { format: { ...format, strict: true } } }
}

export function anthropicMessages(baseURL: string, apiKey: string): Client {
  const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey, maxRetries: 0 })
  return {
    name: 'messages',
    has: openaiChat(baseURL, apiKey).has,
    async ask(feature, model, stream) {
      const body = {
        model,
        max_tokens: 4_096,
        system: 'Be brief.',
        messages: [{ role: 'user' as const, content: anthropicContent(feature) }],
        ...anthropicOptions(feature),
      }
      const reply = stream
        ? await client.messages.stream(body).finalMessage()
        : await client.messages.create(body)
      const of = <Type extends Anthropic.ContentBlock['type']>(type: Type) =>
        reply.content.filter(
          (block): block is Extract<Anthropic.ContentBlock, { type: Type }> => block.type === type,
        )
      const { usage } = reply
      return {
        text: of('text')
          .map(({ text }) => text)
          .join(''),
        reasoning: of('thinking')
          .map(({ thinking }) => thinking)
          .join(''),
        calls: of('tool_use').map(({ name, input }) => ({
          name,
          input: input as Record<string, unknown>,
        })),
        usage: {
          input: usage.input_tokens,
          cached: usage.cache_read_input_tokens ?? 0,
          output: usage.output_tokens - (usage.output_tokens_details?.thinking_tokens ?? 0),
          reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
        },
      }
    },
  }
}

function anthropicContent(feature: Feature): Anthropic.ContentBlockParam[] {
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png }
  const text = { type: 'text' as const, text: question }
  return feature === 'vision' ? [text, { type: 'image', source }] : [text]
}

function anthropicOptions(feature: Feature) {
  if (usesTools(feature)) {
    const tool = { name: 'get_weather', description: 'Weather now.' }
    return {
      tools: [{ ...tool, input_schema: { ...weatherSchema, required: ['city'] } }],
    }
  }
  if (feature === 'reasoning')
    return { thinking: { type: 'enabled' as const, budget_tokens: 2_048 } }
  if (feature !== 'structured output') return {}
  const format = { type: 'json_schema' as const, schema: { ...answerSchema } }
  return { output_config: { format } }
}

export function gemini(baseURL: string, apiKey: string): Client {
  const baseUrl = baseURL.replace(/\/v1$/, '')
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } })
  return {
    name: 'generateContent',
    has: openaiChat(baseURL, apiKey).has,
    async ask(feature, model, stream) {
      const contents = [{ role: 'user', parts: geminiParts(feature) }]
      const config = { systemInstruction: 'Be brief.', ...geminiOptions(feature) }
      const parts: Part[] = []
      let last: { readonly usageMetadata?: object } | null = null
      if (stream) {
        const chunks = await client.models.generateContentStream({ model, contents, config })
        for await (const chunk of chunks) {
          parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
          if (chunk.usageMetadata !== undefined) last = chunk
        }
      } else {
        const reply = await client.models.generateContent({ model, contents, config })
        parts.push(...(reply.candidates?.[0]?.content?.parts ?? []))
        last = reply
      }
      const usage = (last?.usageMetadata ?? {}) as Readonly<Record<string, number | undefined>>
      const cached = usage['cachedContentTokenCount'] ?? 0
      const textOf = (thought: boolean) =>
        parts
          .filter((part) => (part.thought === true) === thought)
          .map(({ text = '' }) => text)
          .join('')
      return {
        text: textOf(false),
        reasoning: textOf(true),
        calls: parts.flatMap(({ functionCall }) =>
          functionCall === undefined
            ? []
            : [{ name: functionCall.name ?? '', input: functionCall.args ?? {} }],
        ),
        usage: {
          input: (usage['promptTokenCount'] ?? 0) - cached,
          cached,
          output: usage['candidatesTokenCount'] ?? 0,
          reasoning: usage['thoughtsTokenCount'] ?? 0,
        },
      }
    },
  }
}

function geminiParts(feature: Feature): Part[] {
  const image = { inlineData: { mimeType: 'image/png', data: png } }
  return feature === 'vision' ? [{ text: question }, image] : [{ text: question }]
}

function geminiOptions(feature: Feature) {
  if (usesTools(feature)) {
    const tool = { name: 'get_weather', description: 'Weather now.' }
    const functionDeclarations = [{ ...tool, parametersJsonSchema: weatherSchema }]
    return { tools: [{ functionDeclarations }] }
  }
  if (feature === 'reasoning')
    return { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } }
  if (feature !== 'structured output') return {}
  return { responseMimeType: 'application/json', responseJsonSchema: answerSchema }
}

/** The legacy interface: text in, text out. */
export function completions(baseURL: string, apiKey: string): Client {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  return {
    name: 'completions',
    has: ['text', 'usage', 'caching'],
    async ask(_feature, model, stream) {
      const body = { model, prompt: question, max_tokens: 100 }
      let text = ''
      let usage: OpenAI.CompletionUsage | null | undefined
      if (stream) {
        const options = { stream: true, stream_options: { include_usage: true } } as const
        for await (const chunk of await client.completions.create({ ...body, ...options })) {
          text += chunk.choices[0]?.text ?? ''
          usage = chunk.usage ?? usage
        }
      } else {
        const reply = await client.completions.create(body)
        text = reply.choices[0]?.text ?? ''
        usage = reply.usage
      }
      const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0
      const reasoning = usage?.completion_tokens_details?.reasoning_tokens ?? 0
      return {
        text,
        reasoning: null,
        calls: [],
        usage: {
          input: (usage?.prompt_tokens ?? 0) - cached,
          cached,
          output: (usage?.completion_tokens ?? 0) - reasoning,
          reasoning,
        },
      }
    },
  }
}

function fail(message: string): never {
  throw new Error(message)
}
