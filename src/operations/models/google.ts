// Lists the models in Google's form.

import type { Model } from '../../catalog/model.ts'

/** Methods by kind of model; Google's interface has none here for other kinds. */
const methodsOf: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    chat: ['generateContent', 'streamGenerateContent', 'countTokens'],
    embedding: ['embedContent', 'batchEmbedContents'],
  }),
)

/** API reference, `Model`. */
function entry(model: Model): Record<string, unknown> {
  const { id, kind, also, context, maxOutput } = model
  const methods = [kind, ...also].flatMap((each) => methodsOf.get(each) ?? [])
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: `Served by ${model.ownedBy}.`,
    ...(context !== null && { inputTokenLimit: context }),
    ...(maxOutput !== null && { outputTokenLimit: maxOutput }),
    supportedGenerationMethods: methods,
  }
}

export function googleModelList(models: readonly Model[]): string {
  return JSON.stringify({ models: models.map(entry) })
}

export function googleModel(model: Model): string {
  return JSON.stringify(entry(model))
}
