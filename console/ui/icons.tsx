/** The outlines of the icons, as SVG path data in a square of 24 by 24. */
const ICON_PATHS = {
  play: 'M7 4.5v15l13-7.5z',
  pause: 'M6 4.5h4v15H6zM14 4.5h4v15h-4z',
  previousFrame: 'M18 5v14L8.5 12zM5 5h2.5v14H5z',
  nextFrame: 'M6 5v14l9.5-7zM16.5 5H19v14h-2.5z',
  previousEvent: 'M20 6v12l-7-6zM12 6v12l-7-6zM3 6h1.5v12H3z',
  nextEvent: 'M4 6v12l7-6zM12 6v12l7-6zM19.5 6H21v12h-1.5z',
  previous: 'M15.5 4.5 8 12l7.5 7.5 1.6-1.6L11.2 12l5.9-5.9z',
  next: 'M8.5 4.5 16 12l-7.5 7.5-1.6-1.6 5.9-5.9-5.9-5.9z',
  zoomIn: 'M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z',
  zoomOut: 'M5 11h14v2H5z',
  sound: 'M4 9v6h4l5 4.5v-15L8 9zm12.2-1.6-1.2 1.5a4 4 0 0 1 0 6.2l1.2 1.5a6 6 0 0 0 0-9.2z',
  muted:
    'M4 9v6h4l5 4.5v-15L8 9zm11 .9 2.1 2.1-2.1 2.1 1.3 1.3 2.1-2.1 2.1 2.1 1.3-1.3-2.1-2.1 2.1-2.1-1.3-1.3-2.1 2.1-2.1-2.1z',
  download: 'M11 4h2v8.2l3.3-3.3 1.4 1.4L12 16l-5.7-5.7 1.4-1.4 3.3 3.3zM5 18h14v2H5z',
} as const

export type IconName = keyof typeof ICON_PATHS

/** An icon in the colour of the surrounding text. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={ICON_PATHS[name]} fill="currentColor" />
    </svg>
  )
}
