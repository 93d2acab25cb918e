// Answers which models a caller may use, in the form that its client expects.

import type { Model } from '../../catalog/model.ts'
import type { KeyPrincipal } from '../../identity/principal.ts'
import type { RequestHeaders } from '../../identity/request-headers.ts'
import { googleModelId, isGoogleClient, isGooglePath } from '../google.ts'
import type { ModelAccess } from '../model-access.ts'
import type { Reading, Reply } from '../operation.ts'
import { belowPrefix, decodeId } from '../path.ts'
import { unknownModel } from '../resolve.ts'
import { googleModel, googleModelList } from './google.ts'
import { anthropicModelList, anthropicModelObject, modelList, modelObject } from './list.ts'

interface WithModels {
  readonly modelAccess: ModelAccess
}

type ByKey = Reading<KeyPrincipal>

/** Only Anthropic's clients send their API version with every request. */
export function isAnthropic(headers: RequestHeaders): boolean {
  return headers.has('anthropic-version')
}

/** Google's newer clients also ask below /v1, where their headers identify them. */
function isGoogle({ url, headers }: ByKey): boolean {
  return isGooglePath(url.pathname) || isGoogleClient(headers)
}

export function readModels(asked: ByKey, { modelAccess }: WithModels): Reply {
  const models = modelAccess.models(asked.principal)
  if (isGoogle(asked)) return { body: googleModelList(models) }
  if (!isAnthropic(asked.headers)) return { body: modelList(models) }
  return { body: anthropicModelList(models, asked.url.searchParams) }
}

/** Some clients ask for the list at an address that ends in `/`. */
export function readModel(asked: ByKey, services: WithModels): Reply {
  const { url, headers, principal } = asked
  if (url.pathname.endsWith('/models/')) return readModels(asked, services)
  const { modelAccess } = services
  const named = (id: string): Model => {
    const model = modelAccess.model(principal, id)
    if (model === null) throw unknownModel(id)
    return model
  }
  if (isGoogle(asked)) return { body: googleModel(named(googleModelId(url.href))) }
  const model = named(decodeId(belowPrefix(url.pathname).slice('/models/'.length)))
  return { body: isAnthropic(headers) ? anthropicModelObject(model) : modelObject(model) }
}
