// Loads the texts of the page in the reader's language: each catalogue is loaded with the code that needs it.

import { i18n, type Messages } from '@lingui/core'
import { type Language, languageOf, preferences } from './state/preferences.ts'

/** Of a page: `export const catalog: Catalog = (language) => import(`./locales/${language}.po`)`. */
export type Catalog = (language: Language) => Promise<{ readonly messages: Messages }>

const loaders = new Set<Catalog>()

/**
 * Loads a catalogue in the present language, and again whenever another is chosen. Resolves once its texts can be
 * shown.
 */
export async function loadCatalog(loader: Catalog): Promise<void> {
  if (loaders.has(loader)) return
  const language = languageOf(preferences())
  const { messages } = await loader(language)
  loaders.add(loader)
  i18n.load(language, messages)
  activate(language)
}

/** After the language was changed: loads all catalogues that were loaded so far, then draws the page again. */
export async function showLanguage(): Promise<void> {
  const language = languageOf(preferences())
  const loaded = await Promise.all([...loaders].map((loader) => loader(language)))
  for (const { messages } of loaded) i18n.load(language, messages)
  activate(language)
}

function activate(language: Language): void {
  i18n.activate(language)
  document.documentElement.lang = language
}

// Another tab of the same browser chose it, and preferences.ts has already read it.
addEventListener('storage', () => {
  if (languageOf(preferences()) !== i18n.locale) void showLanguage()
})
