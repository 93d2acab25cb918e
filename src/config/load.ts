// Loads the configuration: flags over environment over file over defaults, checked and frozen.

import { dirname, resolve } from 'node:path'
import { buildConfig } from './build.ts'
import type { Checked } from './check.ts'
import { ConfigError, type Problem } from './problems.ts'
import type { FileSettings } from './schema.ts'
import { type Environment, type Flags, type Override, readOverride } from './settings.ts'
import { longestConfiguration, readTextFile } from './text-file.ts'
import type { Config } from './types.ts'

export interface LoadOptions {
  readonly flags: Flags
  readonly env: Environment
  /** Allowed values of a channel's `vendor` and `dialect`. */
  readonly knownVendors: readonly string[]
  readonly knownDialects: readonly string[]
  /** Vendors whose channels need a baseUrl. */
  readonly addresslessVendors?: readonly string[]
  /** Checks the file in a separate process: YAML and schema would keep some 18 MB in this one. */
  readonly apart?: boolean
}

/** Apart from the configuration, which is shown and compared. */
const texts = new WeakMap<Config, string>()

/** The text of the file from which a configuration was loaded; undefined where there was none. */
export function loadedText(config: Config): string | undefined {
  return texts.get(config)
}

/** Throws ConfigError with every problem found. Without a file neither YAML nor schema is loaded. */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const problems: Problem[] = []
  const override = readOverride(options.flags, options.env, problems)
  const file = override.file === undefined ? null : resolve(override.file)
  if (file === null) {
    if (problems.length > 0) throw new ConfigError(problems, null)
    return buildConfig(await defaultSettings(), override, null)
  }
  return readConfig(await readText(file, problems), file, override, problems, options)
}

/** The schema's defaults, without loading the schema. */
async function defaultSettings(): Promise<FileSettings> {
  const { default: settings } = await import('./defaults.json', { with: { type: 'json' } })
  return settings as FileSettings
}

async function readText(file: string, problems: Problem[]): Promise<string> {
  const read = await readTextFile(file, longestConfiguration)
  if ('text' in read) return read.text
  problems.push({ path: '', message: `the file ${read.refused}` })
  throw new ConfigError(problems, file)
}

async function readConfig(
  text: string,
  file: string,
  override: Override,
  problems: Problem[],
  options: LoadOptions,
): Promise<Config> {
  const question = {
    text,
    folder: dirname(file),
    known: {
      vendors: options.knownVendors,
      dialects: options.knownDialects,
      addressless: options.addresslessVendors ?? [],
    },
  }
  const { checkText } = await import(options.apart === true ? './apart.ts' : './check.ts')
  const checked: Checked = await checkText(question, options.env)
  problems.push(...checked.problems)
  if (checked.input === null || problems.length > 0) throw new ConfigError(problems, file)
  const config = buildConfig(checked.input, override, file, [file, ...checked.files])
  texts.set(config, text)
  return config
}
