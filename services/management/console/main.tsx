import { render } from 'preact'
import { App } from './app.tsx'
import './ui/tokens.css'
import './ui/base.css'

render(<App />, document.getElementById('console')!)
