// `tollgate config import`: writes the configuration that another gateway's file amounts to.

import { stringify } from 'yaml'
import { parseFile } from '../config/parse.ts'
import { ConfigError, type Problem } from '../config/problems.ts'
import { longestConfiguration, readTextFile } from '../config/text-file.ts'
import type { Command } from './command.ts'
import { fromLitellm } from './litellm.ts'
import { print, printJson, say } from './output.ts'

export const configImport: Command = {
  name: 'config import',
  words: ['FILE'],
  summary: "print the configuration that a file of LiteLLM's proxy amounts to, and what is missing",
  options: {},
  async run({ words: [file = ''], json }) {
    const read = await readTextFile(file, longestConfiguration)
    if ('refused' in read) throw new Error(`${file} ${read.refused}`)
    const problems: Problem[] = []
    const value = parseFile(read.text, problems)
    if (problems.length > 0) throw new ConfigError(problems, file)
    const converted = fromLitellm(value)
    if (converted === null) {
      throw new Error(`${file} has no model_list, so it is no configuration of LiteLLM's proxy`)
    }
    if (json) {
      await printJson(converted)
      return undefined
    }
    await print(stringify(converted.config, { lineWidth: 0 }))
    for (const { path, message } of converted.left) say(`${path}: ${message}`)
    return undefined
  },
}
