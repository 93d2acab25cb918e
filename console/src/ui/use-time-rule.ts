// The rule for an optional field of a date and time: empty, or complete and of a year that can be meant.

import { useLingui } from '@lingui/react/macro'
import { useRef } from 'react'
import { fromLocalInput } from '../app/range.ts'
import { useTimeZone } from '../state/preferences.ts'

/** The form sets `element` to the field: the value of a half typed time is empty, so the field itself is asked. */
export function useTimeRule() {
  const { t } = useLingui()
  const timeZone = useTimeZone()
  const element = useRef<HTMLInputElement | null>(null)
  const validate = (value: string) => {
    const isEmpty = value === '' && element.current?.validity.badInput !== true
    if (isEmpty || fromLocalInput(value, timeZone) !== null) return true
    return t`Write the whole date and time, with a year from 1970 on.`
  }
  return { element, rule: { validate } }
}
