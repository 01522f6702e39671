import { Icon } from '../../ui/icons.tsx'

interface ZoomButtonsProps {
  factor: number
  isWhole: boolean
  onZoom(factor: number): void
  onDay(): void
}

/** For those who have neither a wheel nor two fingers to spare. */
export function ZoomButtons({ factor, isWhole, onZoom, onDay }: ZoomButtonsProps) {
  return (
    <div class="zoom">
      <button type="button" aria-label="Closer" title="Closer (+)" onClick={() => onZoom(factor)}>
        <Icon name="closer" />
      </button>
      <button
        type="button"
        aria-label="Farther"
        title="Farther (-)"
        disabled={isWhole}
        onClick={() => onZoom(1 / factor)}
      >
        <Icon name="farther" />
      </button>
      <button type="button" title="The whole day (0)" disabled={isWhole} onClick={onDay}>
        Day
      </button>
    </div>
  )
}
