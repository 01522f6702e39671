import { Icon } from '../../ui/icons.tsx'
import './timeline.css'

interface ZoomButtonsProps {
  /** Whether the whole day is visible. */
  isWholeDay: boolean
  onZoomIn(): void
  onZoomOut(): void
  onWholeDay(): void
}

/** Buttons for users without a mouse wheel or a touch screen. */
export function ZoomButtons({ isWholeDay, onZoomIn, onZoomOut, onWholeDay }: ZoomButtonsProps) {
  return (
    <div class="zoom">
      <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={onZoomIn}>
        <Icon name="zoomIn" />
      </button>
      <button
        type="button"
        aria-label="Zoom out"
        title="Zoom out (-)"
        disabled={isWholeDay}
        onClick={onZoomOut}
      >
        <Icon name="zoomOut" />
      </button>
      <button
        type="button"
        title="Show the whole day (0)"
        disabled={isWholeDay}
        onClick={onWholeDay}
      >
        Day
      </button>
    </div>
  )
}
