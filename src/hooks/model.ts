import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { sizeText, viewReading } from "../../kernel/index.ts";
import { written } from "../config/key.ts";
import type { Moment, Sessions } from "../session.ts";
import { showStatusLine } from "../ui/status-line.ts";

/** Measures the view by the model just chosen, and says if it does not fit. */
export function onModelSelect(sessions: Sessions, ctx: ExtensionContext): void {
	const moment = sessions.at(ctx);
	const { host, session, context } = moment;
	showStatusLine(sessions, moment);
	if (!context.isActive || host.model === undefined) return;
	const { calibration, window } = context;
	const reading = viewReading(sessions.view(moment), calibration);
	session.log.info("model", { key: host.model.key, ...reading, usableTokens: window.usableTokens });
	if (reading.sizeTokens <= window.usableTokens) return;
	const size = sizeText(reading, window);
	host.notify(
		`pi-billion-context: the context holds ${size} into ${host.model.id}. The next request is made to fit; nothing is lost.`,
		"warning",
	);
}

/** Says once a model what requests taught about its window. */
export function sayWindow(sessions: Sessions, moment: Moment): void {
	const { host, context } = moment;
	const text = windowNotice(moment);
	if (text === undefined || host.model === undefined) return;
	const key = `${host.model.provider}/${host.model.id} ${context.window.source}`;
	sessions.notice(moment, `pi-billion-context: ${text}`, "warning", key);
}

function windowNotice({ host, context: { window } }: Moment): string | undefined {
	const name = host.model?.id ?? "the model";
	const limit = `${written(window.limitTokens)} tokens`;
	switch (window.source) {
		case "success":
			return `${name} took a request larger than the window it declares; ${limit} is assumed now. Declare its true contextWindow in models.json: Pi sizes answers by it.`;
		case "overflow":
			return `a request to ${name} was refused for its size; its window is taken as ${limit} from now on.`;
		case "failures":
			return `large requests to ${name} failed in a row; its window is taken as ${limit} until a larger one succeeds.`;
		default:
			return undefined;
	}
}
