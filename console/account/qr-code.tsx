import { encode } from 'uqr'

/** Modules around the symbol that readers need (ISO/IEC 18004). */
const QUIET_ZONE = 4

/** A QR code, dark on white in every theme, because many readers need that. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: QUIET_ZONE, ecc: 'M' })
  const modules = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  )
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} width="232" height="232">
      <rect width={size} height={size} fill="#fff" />
      <path d={modules.join('')} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
