// Builds the page at /docs: the OpenAPI document as HTML, without scripts and without requests to other hosts.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sourcePath } from '../../installation.ts'
import { escapeHtml } from '../html.ts'
import { type Entry, sectionsOf } from './entries.ts'
import {
  type Json,
  type JsonObject,
  listOf,
  membersHtml,
  objectOf,
  prose,
  rowHtml,
  typeHtml,
} from './schema-html.ts'

interface Page {
  readonly html: string
  /** The value of the header `content-security-policy`. */
  readonly policy: string
}

/** Builds the page of an OpenAPI 3.1 document. Throws where an operation has no tag. */
export function docsPage(document: JsonObject): Page {
  const style = readFileSync(sourcePath('http/openapi/page.css'), 'utf8')
  const hash = createHash('sha256').update(style).digest('base64')
  const { title, version } = objectOf(document['info'])
  const sections = sectionsOf(document)
  const about = new Map(
    listOf(document['tags']).map((tag) => [objectOf(tag)['name'], objectOf(tag)['description']]),
  )
  const name = escapeHtml(String(title))
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name} API</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the operations</a>
<nav aria-label="Operations"><a href="#main"><strong>${name}</strong></a>
${sections.map(({ tag, entries: own }) => `<h2>${escapeHtml(tag)}</h2><ul>${own.map(linkHtml).join('')}</ul>`).join('\n')}
<h2>Schemas</h2><ul><li><a href="#schemas">All schemas</a></li></ul>
</nav>
<main id="main">
<h1>${name} API</h1>
<p class="quiet">Version ${escapeHtml(String(version))}. For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${securityHtml(document)}
${sections.map(({ tag, entries: own }) => `<section><h2>${escapeHtml(tag)}</h2><p>${prose(about.get(tag))}</p>${own.map((entry) => entryHtml(document, entry)).join('\n')}</section>`).join('\n')}
<section><h2 id="schemas">Schemas</h2>${schemasHtml(document)}</section>
</main>
</body>
</html>
`
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return { html, policy }
}

function linkHtml({ id, operation }: Entry): string {
  return `<li><a href="#${escapeHtml(id)}">${prose(operation['summary'])}</a></li>`
}

/** The id stands inside the details element, so that a link to it opens them. */
function entryHtml(document: JsonObject, { id, method, path, operation }: Entry): string {
  const head = `<span class="method ${escapeHtml(method)}">${escapeHtml(method)}</span> <code>${escapeHtml(path)}</code>`
  const { summary, description } = operation
  return `<details><summary>${head}<span class="quiet">${prose(summary)}</span></summary><div id="${escapeHtml(id)}">
<p>${prose(description)}</p>${accessHtml(operation)}${parametersHtml(document, operation)}${bodyHtml(document, operation)}${responsesHtml(document, operation)}</div></details>`
}

/** Follows a `$ref` within the document; any other value is returned as it is. */
function resolved(document: JsonObject, value: Json | undefined): JsonObject {
  const { $ref: reference } = objectOf(value)
  if (typeof reference !== 'string') return objectOf(value)
  const [, , kind = '', name = ''] = reference.split('/')
  return objectOf(objectOf(objectOf(document['components'])[kind])[name])
}

function securityHtml(document: JsonObject): string {
  const schemes = objectOf(objectOf(document['components'])['securitySchemes'])
  const rows = Object.entries(schemes).map(([name, scheme]) => {
    const { type, in: where, name: field, description } = objectOf(scheme)
    const place = type === 'http' ? 'authorization: Bearer' : `${String(where)} ${String(field)}`
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td><code>${escapeHtml(place)}</code> ${prose(description)}</td></tr>`
  })
  return `<h3>Authentication</h3><table>${rows.join('')}</table>`
}

function accessHtml({ security }: JsonObject): string {
  const names = listOf(security).flatMap((one) => Object.keys(objectOf(one)))
  const who = names.map((name) => `<code>${escapeHtml(name)}</code>`).join(' or ')
  return `<p class="quiet">${names.length === 0 ? 'No authentication.' : `Authentication: ${who}.`}</p>`
}

function parametersHtml(document: JsonObject, { parameters }: JsonObject): string {
  const rows = listOf(parameters).map((one) => {
    const { name, in: where, schema, description, required } = resolved(document, one)
    const shown = {
      ...objectOf(schema),
      description: `In the ${String(where)}. ${description ?? ''}`,
    }
    return rowHtml(String(name), shown, required === true)
  })
  return rows.length === 0 ? '' : `<h3>Parameters</h3><table>${rows.join('')}</table>`
}

function bodyHtml(document: JsonObject, { requestBody }: JsonObject): string {
  const { content } = resolved(document, requestBody)
  return Object.entries(objectOf(content))
    .map(([type, value]) => {
      const { schema, example } = objectOf(value)
      const shown =
        example === undefined ? '' : `<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>`
      return `<h3>Request body <code>${escapeHtml(type)}</code></h3><p class="type">${typeHtml(schema)}</p>${shown}${membersHtml(resolved(document, schema))}`
    })
    .join('')
}

function responsesHtml(document: JsonObject, { responses }: JsonObject): string {
  const rows = Object.entries(objectOf(responses)).map(([status, value]) => {
    const { description, content } = resolved(document, value)
    const types = Object.entries(objectOf(content)).map(([type, one]) => {
      const { schema } = objectOf(one)
      return `<div><code>${escapeHtml(type)}</code> <span class="type">${typeHtml(schema)}</span>${membersHtml(schema)}</div>`
    })
    return `<tr><th scope="row"><code>${escapeHtml(status)}</code></th><td>${prose(description)}${types.join('')}</td></tr>`
  })
  return `<h3>Replies</h3><table>${rows.join('')}</table>`
}

function schemasHtml(document: JsonObject): string {
  const schemas = objectOf(objectOf(document['components'])['schemas'])
  return Object.entries(schemas)
    .map(([name, schema]) => {
      const { description } = objectOf(schema)
      const shown = escapeHtml(name)
      return `<details><summary><code>${shown}</code></summary><div id="schema-${shown}"><p class="type">${typeHtml(schema)}</p><p>${prose(description)}</p>${membersHtml(schema)}</div></details>`
    })
    .join('\n')
}
