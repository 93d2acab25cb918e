// A rule on words: docs/glossary.md has a plain term for each of these.
import type { Source } from './source.ts'

/** In names, as separate words. */
const inNames: ReadonlySet<string> = new Set(
  `till tab owed owes litter door sight heard told untold wishes wished passing hindrance unsaid
   purse purses stray strays verdict outlet outlets lasting unpaid seal seals unseal`.split(/\s+/),
)
/** As types; a method's verb, and `asked` for what was asked, are plain English. */
const noun = /^(?=[A-Z])(\w*[a-z])?Ask(ed)?$/
const inText = /\b(till|litter|purses?|hindrances?|outlets?|stray|(the|front) door)\b/i
const words = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

export function wordsAreOfTheField(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap((source) => {
      const { path, names, comments, strings } = source
      const file = { text: path.replace(/^src\/|\.\w+$/g, ''), line: 1 }
      return [
        ...[file, ...names].filter(({ text }) => isOld(text)),
        ...[...comments, ...strings].filter(({ text }) => inText.test(text)),
      ].map(({ text, line }) => `${path}:${line}: ${text}`)
    })
}

function isOld(name: string): boolean {
  const old = name.match(words)?.some((word) => inNames.has(word.toLowerCase()))
  return old === true || noun.test(name)
}
