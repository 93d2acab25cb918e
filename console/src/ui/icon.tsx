// The few line drawings that the console uses, 16 by 16, in the colour of the text around them.

const paths = {
  overview: 'M2 9.5 8 3l6 6.5M4 8v5h8V8',
  start: 'M5 3l8 5-8 5z',
  usage: 'M2.5 13.5h11M4 11V7m4 4V3m4 8V5.5',
  requests: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  models: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6',
  playground: 'M3 3h10v8H7l-3 2.5V11H3z',
  key: 'M10 2.5a3.5 3.5 0 1 1-2.9 5.5L2.5 12.5V14h2v-1.5H6V11h1.5l1-1M10.5 5.5h.01',
  billing: 'M2 4h12v8.5H2zM2 7h12M4.5 10h2.5',
  settings:
    'M8 5.75a2.25 2.25 0 1 1 0 4.5 2.25 2.25 0 0 1 0-4.5M8 1.5v2m0 9v2M1.5 8h2m9 0h2M3.4 3.4l1.4 1.4m6.4 6.4 1.4 1.4m0-9.2-1.4 1.4m-6.4 6.4-1.4 1.4',
  operations: 'M1.5 8h3L6.5 3l3 10 2-5h3',
  channels:
    'M3 4h4m2 0h4M7 4l2 0M3 8h2m6 0h2M5 8h6M3 12h4m2 0h4M7 12l2 0M7 2.5v3M11 6.5v3M7 10.5v3',
  prices: 'M2.5 8.5 8.5 2.5h5v5l-6 6zM11 5h.01',
  groups: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  users:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.3a2.5 2.5 0 0 1 0 4.4M12 9.9c1.5.5 2.5 1.8 2.5 3.6',
  audit: 'M4 2h6l2.5 2.500V14H4zM6 7h4.500M6 9.500h4.500M6 12h2.5',
  reconcile: 'M2.5 5.500h9L9 3m4.5 7.500h-9L7 13',
  search: 'M7 2.500a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.5 10.500l3.5 3.5',
  close: 'M3.5 3.500l9 9m0-9-9 9',
  check: 'M3 8.500l3.5 3.500L13 4.5',
  bell: 'M8 2a4 4 0 0 1 4 4c0 3 1.500 4 1.500 5.500h-11C2.500 10 4 9 4 6a4 4 0 0 1 4-4M6.500 13.500a1.500 1.500 0 0 0 3 0',
  copy: 'M5.5 5.500h8v8h-8zM3 10.500H2.500v-8h8V3',
  link: 'M6.5 9.5l3-3M7 4.500l1.500-1.500a2.5 2.5 0 0 1 4.500 3L11 8.500M9 11.500 7.500 13a2.5 2.5 0 0 1-4.500-3L5 7.500',
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  left: 'M10 4L6 8l4 4',
  right: 'M6 4l4 4-4 4',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  filter: 'M2 3h12l-4.5 5.500V13l-3-1.500v-3z',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  refresh: 'M13.5 3v3.500H10M13 6.500A5.5 5.5 0 1 0 13.5 9',
  external: 'M9 2.500h4.500V7M13.5 2.5 7.5 8.500M11.5 9v4.500h-9v-9H7',
  download: 'M8 2.500v8m-3.5-3.500L8 10.5 11.5 7M2.5 13.500h11',
  upload: 'M8 10.500v-8M4.5 6 8 2.5 11.5 6M2.5 13.500h11',
  stop: 'M4 4h8v8H4z',
  play: 'M5 3l8 5-8 5z',
  pause: 'M5 3v10M11 3v10',
  sun: 'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 1.500v1M8 13.500v1M1.5 8h1M13.5 8h1M3.4 3.400l.7.7M11.9 11.900l.7.7M12.6 3.400l-.7.7M4.1 11.900l-.7.7',
  globe: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M2 8h12M8 2c-4 4-4 8 0 12M8 2c4 4 4 8 0 12',
  clock: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M8 4.500V8l2.5 1.5',
  docs: 'M3 2.500h7.500L13 5v8.500H3zM5.5 7h5M5.5 10h5',
  user: 'M8 8a2.75 2.75 0 1 0 0-5.500A2.75 2.75 0 0 0 8 8M2.5 14c0-3 2.5-4.5 5.5-4.500s5.5 1.5 5.5 4.5',
  warning: 'M8 2 14.5 13.500h-13zM8 6.500v3.500M8 11.800h.01',
  edit: 'M10.5 2.500l3 3-8 8h-3v-3z',
  trash: 'M2.5 4.500h11M6 4.500v-2h4v2M4 4.500l.6 9h6.800l.6-9',
} as const

export type IconName = keyof typeof paths

/** Decoration: its meaning is also in the text beside it, or in the control's `label`. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className="shrink-0"
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.5"
      viewBox="0 0 16 16"
      width={size}
    >
      <path d={paths[name]} />
    </svg>
  )
}
