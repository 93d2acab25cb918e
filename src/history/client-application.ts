// The application that sent a request, from its User-Agent: part of its record, and never used for access decisions.

export interface ClientApplication {
  /** Lower case: `claude-code`, `openai-python`, `curl`. */
  readonly name: string
  readonly version: string | null
}

/** By the header's beginning; other applications are named by the header's first word. */
const known: readonly (readonly [begins: RegExp, name: string])[] = [
  [/^claude-cli\//i, 'claude-code'],
  [/^codex[\w-]*\//i, 'codex'],
  [/^GeminiCLI[\w-]*\//i, 'gemini-cli'],
  [/^google-genai-sdk\//i, 'google-genai'],
  [/^(?:Async)?(?:Azure)?OpenAI\/Python /i, 'openai-python'],
  [/^(?:Azure)?OpenAI\/JS /i, 'openai-node'],
  [/^(?:Azure)?OpenAI\/Go /i, 'openai-go'],
  [/^(?:Azure)?OpenAI\/Java /i, 'openai-java'],
  [/^(?:Async)?Anthropic\/Python /i, 'anthropic-python'],
  [/^Anthropic\/JS /i, 'anthropic-node'],
  [/^Anthropic\/Go /i, 'anthropic-go'],
  [/^(?:ai-sdk|ai)\//i, 'ai-sdk'],
  [/^Mozilla\//i, 'browser'],
]

/** `name/1.2`, `name 1.2` or `name`; bounded, so that a record stays small whatever is sent. */
const product = /^([A-Za-z0-9][\w.+-]{0,39})(?:[/ ]v?(\d[\w.+-]{0,23}))?/
/** The version after the first word, which may consist of two: `OpenAI/Python 1.2`. */
const version = /^[^ ]*?[/ ]v?(\d[\w.+-]{0,23})/
const spacedVersion = /^[^ ]+ v?(\d[\w.+-]{0,23})/

/** Cache of headers seen, because nearly every request comes from an application seen before. */
const seen = new Map<string, ClientApplication | null>()
const mostSeen = 500
const longestHeader = 256

/** null if there is no header, or it names nothing. */
export function clientApplication(userAgent: string | null): ClientApplication | null {
  if (userAgent === null || userAgent.length > longestHeader) return null
  const before = seen.get(userAgent)
  if (before !== undefined) return before
  const found = read(userAgent)
  if (seen.size >= mostSeen) seen.clear()
  seen.set(userAgent, found)
  return found
}

function read(userAgent: string): ClientApplication | null {
  const name = known.find(([begins]) => begins.test(userAgent))?.[1]
  if (name === 'browser') return { name, version: null }
  if (name !== undefined) {
    const [, after = null] = spacedVersion.exec(userAgent) ?? version.exec(userAgent) ?? []
    return { name, version: after }
  }
  const [, first, after = null] = product.exec(userAgent) ?? []
  return first === undefined ? null : { name: first.toLowerCase(), version: after }
}
