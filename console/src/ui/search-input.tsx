// A field that searches in a list, whose text is in the address.

import { type RefObject, useEffect, useRef } from 'react'
import { Field, Input } from './field.tsx'

/**
 * Gives a field, with `value` as its default, the text that the address has. While somebody types, the field is ahead of
 * the address and keeps its own.
 */
export function useAddressText(value: string): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement)
      input.current.value = value
  }, [value])
  return input
}

interface SearchInputProps {
  readonly label: string
  readonly placeholder?: string
  readonly value: string | undefined
  readonly onChange: (text: string | undefined) => void
}

/** Blanks around a pasted name do not count. */
export function SearchInput({
  label,
  placeholder = label,
  value = '',
  onChange,
}: SearchInputProps) {
  const input = useAddressText(value)
  return (
    <Field hideLabel label={label}>
      <Input
        ref={input}
        type="search"
        autoComplete="off"
        defaultValue={value}
        placeholder={placeholder}
        onChange={({ target }) => onChange(target.value.trim() || undefined)}
      />
    </Field>
  )
}
