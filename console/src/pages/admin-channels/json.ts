// Fields of a channel whose value is typed as JSON.

export const jsonArea = { rows: 4, spellCheck: false, className: 'font-mono' }

/** Whether it is empty, or a JSON object of texts. */
export function isTexts(text: string): boolean {
  const value = objectOf(text)
  return value !== null && Object.values(value).every((each) => typeof each === 'string')
}

const parts = ['set', 'remove', 'defaults']

/** Whether it is empty, or a JSON object of fields to set, to remove and to give by default. */
export function isParameters(text: string): boolean {
  const value = objectOf(text)
  if (value === null) return false
  const { set = {}, remove = [], defaults = {} } = value
  return (
    Object.keys(value).every((name) => parts.includes(name)) &&
    Array.isArray(remove) &&
    [set, defaults].every((each) => isObject(each))
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Empty text is an empty object; null: it is not a JSON object. */
function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
