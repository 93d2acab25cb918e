// A button that opens a small panel below it; Base UI handles its position and the focus.

import { Popover as BasePopover } from '@base-ui/react/popover'
import type { ReactNode } from 'react'
import { buttonClass } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

interface PopoverProps {
  readonly label: string
  readonly icon?: IconName
  /** In place of the label, if it shows the choice. */
  readonly text?: ReactNode
  /** Set together with `onOpenChange` if a choice in it closes it. */
  readonly open?: boolean
  readonly onOpenChange?: (isOpen: boolean) => void
  readonly children: ReactNode
}

export function Popover({ label, icon, text, children, ...opening }: PopoverProps) {
  return (
    <BasePopover.Root {...opening}>
      <BasePopover.Trigger
        aria-label={typeof text === 'string' ? label : undefined}
        className={`${buttonClass()} max-w-full md:max-w-lg`}
      >
        {icon !== undefined && <Icon name={icon} />}
        {/* People who use voice control say the visible text, so it must be part of the name. */}
        {text !== undefined && typeof text !== 'string' && <span className="sr-only">{label}</span>}
        <span className="line-clamp-2 min-w-0 text-left wrap-anywhere whitespace-normal">
          {text ?? label}
        </span>
        <Icon name="down" size={12} />
      </BasePopover.Trigger>
      <BasePopover.Portal>
        <BasePopover.Positioner align="start" sideOffset={4} className="z-50">
          <BasePopover.Popup
            aria-label={label}
            className="fade-in max-w-[calc(100vw-2rem)] min-w-52 rounded-card border border-border bg-surface shadow-overlay outline-none"
          >
            {children}
          </BasePopover.Popup>
        </BasePopover.Positioner>
      </BasePopover.Portal>
    </BasePopover.Root>
  )
}
