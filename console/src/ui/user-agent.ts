// The application and the system that a User-Agent names. It is only shown: anybody can send any.

interface Application {
  /** As its makers write it; null: some browser. */
  readonly name: string | null
  readonly version: string | null
  /** The operating system, where a browser says it. */
  readonly system: string | null
}

/** In this order: most browsers also claim to be those that stand further down. */
const browsers: readonly (readonly [version: RegExp, name: string])[] = [
  [/\b(?:Edg|EdgA|EdgiOS)\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\bSamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/\bMicroMessenger\/(\d+)/, 'WeChat'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//, 'Safari'],
]

/** In this order: a phone's header also names the system that its own descends from. */
const systems: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iOS'],
  [/\biPad\b/, 'iPadOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** By the header's beginning, or by the name under which the gateway records the application. */
const applications: readonly (readonly [begins: RegExp, name: string])[] = [
  [/^(?:claude-cli|claude-code)\b/i, 'Claude Code'],
  [/^codex/i, 'Codex CLI'],
  [/^(?:GeminiCLI|gemini-cli)/i, 'Gemini CLI'],
  [/^google-genai/i, 'Google Gen AI SDK'],
  [/^(?:(?:Async)?(?:Azure)?OpenAI\/Python|openai-python)\b/i, 'OpenAI SDK (Python)'],
  [/^(?:(?:Azure)?OpenAI\/JS|openai-node)\b/i, 'OpenAI SDK (JavaScript)'],
  [/^(?:(?:Azure)?OpenAI\/Go|openai-go)\b/i, 'OpenAI SDK (Go)'],
  [/^(?:(?:Azure)?OpenAI\/Java|openai-java)\b/i, 'OpenAI SDK (Java)'],
  [/^(?:(?:Async)?Anthropic\/Python|anthropic-python)\b/i, 'Anthropic SDK (Python)'],
  [/^(?:Anthropic\/JS|anthropic-node)\b/i, 'Anthropic SDK (JavaScript)'],
  [/^(?:Anthropic\/Go|anthropic-go)\b/i, 'Anthropic SDK (Go)'],
  [/^(?:ai-sdk|ai)\//i, 'AI SDK'],
]

/** `name/1.2` or `name`. */
const product = /^([\w.+-]+)(?:\/v?(\d[\w.+-]*))?/
/** The version after a name of one word or of two: `OpenAI/Python 1.2`. */
const afterName = /^\S+? v?(\d[\w.+-]*)|^[^\s/]+\/v?(\d[\w.+-]*)/
/** What an application of Electron is called, which stands before the browser that it contains. */
const embedded = /\(KHTML, like Gecko\) ([\w.-]+)\/(\d[\w.]*) .*\bElectron\//

/** null: it names nothing known. */
export function applicationOf(userAgent: string): Application | null {
  if (/^browser$/i.test(userAgent)) return { name: null, version: null, system: null }
  if (/^Mozilla\//i.test(userAgent)) return browserOf(userAgent)
  const name = applications.find(([begins]) => begins.test(userAgent))?.[1]
  if (name !== undefined) {
    const [, spaced, plain] = afterName.exec(userAgent) ?? []
    return { name, version: spaced ?? plain ?? null, system: null }
  }
  const [, first, version = null] = product.exec(userAgent) ?? []
  return first === undefined ? null : { name: first, version, system: null }
}

function browserOf(userAgent: string): Application {
  const system = systems.find(([mark]) => mark.test(userAgent))?.[1] ?? null
  const [, application, applicationVersion = null] = embedded.exec(userAgent) ?? []
  if (application !== undefined && application !== 'Chrome')
    return { name: application, version: applicationVersion, system }
  for (const [version, name] of browsers) {
    const [, major] = version.exec(userAgent) ?? []
    if (major !== undefined) return { name, version: major, system }
  }
  return { name: null, version: null, system }
}
