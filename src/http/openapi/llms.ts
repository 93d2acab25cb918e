// Builds /llms.txt: the OpenAPI document as a short list in Markdown, for language models (https://llmstxt.org).

import { sectionsOf } from './entries.ts'
import { type JsonObject, objectOf } from './schema-html.ts'

const intro = `One HTTP API in front of every model vendor, in OpenAI's, Anthropic's and Google's formats.

- The base address of OpenAI's clients is this server's with \`/v1\` behind it; Anthropic's and Google's clients take it without.
- Send the key as \`Authorization: Bearer KEY\`, \`x-api-key\` or \`x-goog-api-key\`.
- Change the model by its name alone: \`GET /v1/models\` lists the names that the key may use, whatever their vendor.
- Errors are JSON in the format of the client, with a \`code\`; \`x-request-id\` names the request in its record.
- [openapi.json](/openapi.json) describes every field in OpenAPI 3.1; [docs](/docs) is the same as a page.`

/** Of an OpenAPI 3.1 document. Throws where an operation has no tag. */
export function llmsText(document: JsonObject): string {
  const { title } = objectOf(document['info'])
  const sections = sectionsOf(document).map(({ tag, entries }) => {
    const lines = entries.map(
      ({ id, method, path, operation }) =>
        `- [${method.toUpperCase()} ${path}](/docs#${id}): ${String(operation['summary'])}`,
    )
    return `## ${tag}\n\n${lines.join('\n')}\n`
  })
  return [`# ${String(title)}\n\n> ${intro}\n`, ...sections].join('\n')
}
