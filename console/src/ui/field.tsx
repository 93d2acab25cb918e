// Form fields: label, hint and error belong together, also for a screen reader.

import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
} from 'react'

const FieldIds = createContext<{
  readonly id: string
  readonly described: string | undefined
  readonly invalid: boolean
} | null>(null)

interface FieldProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly error?: ReactNode
  /** The label is only read aloud. */
  readonly hideLabel?: boolean
  /** One control of this file. */
  readonly children: ReactNode
}

export function Field({ label, hint, error, hideLabel = false, children }: FieldProps) {
  const id = useId()
  const hasError = error !== undefined && error !== null && error !== ''
  const described = [hint !== undefined && `${id}-hint`, hasError && `${id}-error`]
    .filter(Boolean)
    .join(' ')
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-label text-text-2'}>
        {label}
      </label>
      <FieldIds
        value={{ id, described: described === '' ? undefined : described, invalid: hasError }}
      >
        {children}
      </FieldIds>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-label font-normal text-text-3">
          {hint}
        </p>
      )}
      {hasError && (
        <p id={`${id}-error`} role="alert" className="text-label font-normal text-danger">
          {error}
        </p>
      )}
    </div>
  )
}

function useFieldAttributes() {
  const ids = useContext(FieldIds)
  return ids === null
    ? {}
    : { id: ids.id, 'aria-describedby': ids.described, 'aria-invalid': ids.invalid || undefined }
}

const control =
  'min-h-8 w-full min-w-0 rounded-control border border-border-strong bg-surface px-2.5 text-body text-text placeholder:text-text-3 disabled:opacity-60 aria-invalid:border-danger max-md:min-h-11 max-md:text-[16px]'

type InputProps = InputHTMLAttributes<HTMLInputElement> & {
  readonly ref?: Ref<HTMLInputElement>
  /** Shown after the text: a unit. */
  readonly unit?: ReactNode
}

export function Input({ unit, className = '', ...rest }: InputProps) {
  const attributes = useFieldAttributes()
  const input = (
    <input type="text" {...attributes} {...rest} className={`${control} ${className}`} />
  )
  if (unit === undefined) return input
  return (
    <span className="relative block">
      {input}
      <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-text-3">
        {unit}
      </span>
    </span>
  )
}

export function TextArea({
  className = '',
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { readonly ref?: Ref<HTMLTextAreaElement> }) {
  const attributes = useFieldAttributes()
  return (
    <textarea rows={4} {...attributes} {...rest} className={`${control} py-1.5 ${className}`} />
  )
}

/** The platform's own select, which works well on phones and with screen readers. */
export function Select({
  className = '',
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { readonly ref?: Ref<HTMLSelectElement> }) {
  const attributes = useFieldAttributes()
  return <select {...attributes} {...rest} className={`${control} ${className}`} />
}

interface CheckboxProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly ref?: Ref<HTMLInputElement>
}

export function Checkbox({ label, hint, ...rest }: CheckboxProps) {
  const id = useId()
  return (
    <div className="flex items-start gap-2 max-md:min-h-11 max-md:items-center">
      <input
        id={id}
        type="checkbox"
        {...rest}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-label font-normal text-text-3">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

interface SegmentsProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly { readonly value: Value; readonly label: ReactNode }[]
  readonly onChange: (value: Value) => void
}

/** One of a few choices, all visible. */
export function Segments<Value extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentsProps<Value>) {
  const name = useId()
  return (
    <fieldset className="inline-flex w-fit max-w-full min-w-0 overflow-x-auto rounded-control border border-border bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="relative inline-flex min-h-6 items-center rounded px-2.5 text-label whitespace-nowrap text-text-2 select-none has-checked:bg-surface has-checked:text-text has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-accent max-md:min-h-10"
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
