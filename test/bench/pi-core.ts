/** The parts of Pi that the crash bench runs, without the rest of it: a writer starts a thousand times. */
export { convertToLlm } from "../../node_modules/@earendil-works/pi-coding-agent/dist/core/messages.js";
export {
	migrateSessionEntries,
	parseSessionEntries,
	SessionManager,
} from "../../node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js";
