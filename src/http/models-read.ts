// What reads the models a caller may use, in the forms that different clients accept.

import type { Model } from '../catalog/model.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { belowPrefix, decodeId } from './endpoints.ts'
import type { FrontRooms } from './front-rooms.ts'
import { googleModel, googleModelId, googleModelList, unknownModel } from './google.ts'
import { anthropicModelList, anthropicModelObject, modelList, modelObject } from './models.ts'

type ReadModels = (rooms: FrontRooms, principal: KeyPrincipal, url: URL, headers: Headers) => string

/** Anthropic's clients say their version with every request, and nobody else does. */
export function isAnthropic(headers: Headers): boolean {
  return headers.has('anthropic-version')
}

export const readModels: ReadModels = (rooms, principal, url, headers) => {
  const models = rooms.modelAccess.models(principal)
  return isAnthropic(headers) ? anthropicModelList(models, url.searchParams) : modelList(models)
}

export const readModel: ReadModels = (rooms, principal, url, headers) => {
  const id = decodeId(belowPrefix(url.pathname).slice('/models/'.length))
  const model = modelNamed(rooms, principal, id)
  return isAnthropic(headers) ? anthropicModelObject(model) : modelObject(model)
}

export const readGoogleModels: ReadModels = (rooms, principal) =>
  googleModelList(rooms.modelAccess.models(principal))

export const readGoogleModel: ReadModels = (rooms, principal, url) =>
  googleModel(modelNamed(rooms, principal, googleModelId(url.href)))

function modelNamed(rooms: FrontRooms, principal: KeyPrincipal, id: string): Model {
  const model = rooms.modelAccess.model(principal, id)
  if (model === null) throw unknownModel(id)
  return model
}
