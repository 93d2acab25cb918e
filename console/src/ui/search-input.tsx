// A field that searches in a list, whose text is in the address.

import { useEffect, useRef } from 'react'
import { Field, Input } from './field.tsx'

interface SearchInputProps {
  readonly label: string
  readonly placeholder?: string
  readonly value: string | undefined
  readonly onChange: (text: string | undefined) => void
}

/**
 * While somebody types, the field is ahead of the address; else it shows what the address says. Blanks around a pasted
 * name do not count.
 */
export function SearchInput({
  label,
  placeholder = label,
  value = '',
  onChange,
}: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement)
      input.current.value = value
  }, [value])
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
