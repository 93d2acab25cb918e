// A button that opens a list of actions; Base UI handles the focus and the keyboard.

import { Menu as BaseMenu } from '@base-ui/react/menu'
import type { ReactNode } from 'react'

export interface MenuItem {
  readonly label: ReactNode
  readonly onSelect: () => void
  readonly danger?: boolean
  readonly disabled?: boolean
}

interface MenuProps {
  /** What the button shows. */
  readonly trigger: ReactNode
  /** Its purpose, if the button shows no text. */
  readonly label?: string
  readonly className?: string
  /** Above the actions: what they are about. */
  readonly heading?: ReactNode
  readonly items: readonly MenuItem[]
}

export function Menu({ trigger, label, className, heading, items }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger
        aria-label={label}
        title={label}
        className={
          className ??
          'inline-flex size-8 items-center justify-center rounded-control text-text-2 hover:bg-sunken hover:text-text max-md:size-11'
        }
        onClick={(event) => event.stopPropagation()}
      >
        {trigger}
      </BaseMenu.Trigger>
      <BaseMenu.Portal>
        <BaseMenu.Positioner align="end" sideOffset={4} className="z-50">
          <BaseMenu.Popup className="fade-in min-w-44 rounded-card border border-border bg-surface py-1 text-body shadow-overlay outline-none">
            {heading !== undefined && (
              <div className="mb-1 max-w-72 border-b border-border px-3 py-2">{heading}</div>
            )}
            {items.map((item, index) => (
              <BaseMenu.Item
                key={index}
                disabled={item.disabled === true}
                onClick={(event) => {
                  event.stopPropagation()
                  item.onSelect()
                }}
                className={`flex min-h-8 cursor-pointer items-center px-3 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-sunken max-md:min-h-11 ${item.danger === true ? 'text-danger' : ''}`}
              >
                {item.label}
              </BaseMenu.Item>
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}
