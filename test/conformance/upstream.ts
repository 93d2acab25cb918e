// One server that speaks every vendor's format: it checks each request for what the feature needs, and answers with the
// scenario.

import { type Feature, features, png, scenarios } from './said.ts'
import { chatReply, type Reply, responsesReply } from './vendor-openai.ts'
import { anthropicReply, bedrockReply, cohereReply, geminiReply } from './vendor-others.ts'

/** A feature as a model's name, so that the request itself says which answer it needs. */
export const slugOf = (feature: Feature) => feature.replace(' ', '-')

interface Format {
  readonly name: string
  /** The request's path, below the base address. */
  readonly path: RegExp
  readonly reply: typeof chatReply
  readonly streams: (path: string, body: Body) => boolean
  /** The text that must be in the body for a feature. */
  readonly needs: Partial<Record<Feature, readonly string[]>>
}

type Body = Readonly<Record<string, unknown>>

const byFlag = (_path: string, body: Body) => body['stream'] === true

const formats: readonly Format[] = [
  {
    name: 'openai-chat',
    path: /\/chat\/completions$/,
    reply: chatReply,
    streams: byFlag,
    needs: {
      tools: ['"get_weather"', '"parameters"'],
      vision: [`"image_url"`, png],
      'structured output': ['"json_schema"', '"warm"'],
      reasoning: ['"reasoning_effort"'],
    },
  },
  {
    name: 'openai-responses',
    path: /\/responses$/,
    reply: responsesReply,
    streams: byFlag,
    needs: {
      tools: ['"get_weather"', '"parameters"'],
      vision: ['"input_image"', png],
      'structured output': ['"json_schema"', '"warm"'],
      reasoning: ['"effort"'],
    },
  },
  {
    name: 'anthropic-messages',
    path: /\/messages$/,
    reply: anthropicReply,
    streams: byFlag,
    needs: {
      tools: ['"get_weather"', '"input_schema"'],
      vision: ['"image"', png],
      'structured output': ['"warm"'],
      reasoning: ['"thinking"'],
    },
  },
  {
    name: 'gemini',
    path: /:(generateContent|streamGenerateContent)/,
    reply: geminiReply,
    streams: (path) => path.includes(':streamGenerateContent'),
    needs: {
      tools: ['"get_weather"', '"functionDeclarations"'],
      vision: ['"inlineData"', png],
      'structured output': ['"application/json"', '"warm"'],
      reasoning: ['"thinkingConfig"'],
    },
  },
  {
    name: 'cohere-v2',
    path: /\/v2\/chat$/,
    reply: cohereReply,
    streams: byFlag,
    needs: {
      tools: ['"get_weather"', '"parameters"'],
      vision: [png],
      'structured output': ['"json_object"', '"warm"'],
      reasoning: ['"thinking"'],
    },
  },
  {
    name: 'bedrock-converse',
    path: /\/(converse|converse-stream)$/,
    reply: bedrockReply,
    streams: (path) => path.endsWith('/converse-stream'),
    needs: {
      tools: ['"get_weather"', '"toolSpec"'],
      vision: ['"image"', png],
      'structured output': ['warm'],
      reasoning: ['"additionalModelRequestFields"'],
    },
  },
]

export interface Upstream {
  readonly url: string
  stop(): Promise<void>
}

export function startUpstream(): Upstream {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname
      const format = formats.find((each) => each.path.test(path))
      if (format === undefined) return new Response(`no format at ${path}`, { status: 404 })
      const text = await request.text()
      const { contentType, body } = answer(format, path, text)
      return new Response(body, { headers: { 'content-type': contentType } })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

function answer(format: Format, path: string, text: string): Reply {
  const body = JSON.parse(text) as Body
  const named = `${decodeURIComponent(path)} ${String(body['model'])}`
  // The longest name first: `parallel-tools` contains `tools`.
  const feature = features
    .toSorted((a, b) => b.length - a.length)
    .find((each) => new RegExp(`-${slugOf(each)}(?![\\w-])`).test(named))
  if (feature === undefined) throw new Error(`no feature in ${named}`)
  const key = feature === 'parallel tools' ? 'tools' : feature
  const missing = (format.needs[key] ?? []).filter((need) => !text.includes(need))
  if (missing.length > 0)
    throw new Error(`${format.name} was asked ${text} without ${missing.join()}`)
  return structuredReply(format, feature, text, format.streams(path, body))
}

/** A tool that is forced in place of a schema is answered by a call of it. */
function structuredReply(format: Format, feature: Feature, text: string, stream: boolean): Reply {
  const said = scenarios[feature]
  const forced = /"(?:tool_choice|toolChoice)":\{[^}]*"name":"([^"]+)"/.exec(text)?.[1]
  if (feature !== 'structured output' || forced === undefined) return format.reply(said, stream)
  const call = { id: 'call_1', name: forced, input: JSON.parse(said.text) as Body }
  return format.reply({ ...said, text: '', calls: [call] }, stream)
}
