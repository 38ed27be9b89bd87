import{$ as e,C as t,D as n,E as r,H as i,J as a,K as o,O as s,Q as c,S as l,T as u,X as d,Y as f,c as p,d as m,h,l as g,q as _,u as v,v as y,w as b}from"./index-DNtGPprv.js";import{n as x}from"./seat-BGzWVbU9.js";function S({address:e,game:t,seatCount:n,options:r,bots:i,actions:a}){let o=e.protocol===`https:`,s=e.port||(o?`443`:`80`),c=o?`, Tls(AUTHORITY.read_bytes())`:``;return`"""Plays a table as it was recorded in a browser.

The cards are dealt anew, so another seat may be to act, and an action may not be legal: then a legal one takes its
place, of the same verb if there is one.
"""

import secrets
from contextlib import ExitStack
from pathlib import Path
from random import Random

from google.protobuf.json_format import ParseDict

from croupier_api.v1.actions_pb2 import Action
from croupier_client import BlockingClient, BlockingTable, Endpoints, Tls, choose_random_action

# Where \`croupier up\` runs; with --tls the authority is in its data folder.
AUTHORITY = Path.home() / ".local/share/croupier/keys/gateway.authority.pem"


def endpoints() -> Endpoints:
    return Endpoints.single(${C(`${e.hostname}:${s}`)}${c})


GAME = ${C(t)}
SEATS = ${n}
BOTS = ${C(i)}
OPTIONS = ${C(r)}
ACTIONS = [
${a.map(({seat:e,action:t})=>`    (${e}, ${C(t)}),\n`).join(``)}]
WAIT_SECONDS = 30.0


def test_the_recorded_table() -> None:
    with ExitStack() as stack:
        players = [
            stack.enter_context(BlockingClient(endpoints(), secrets.token_urlsafe(), f"Player {number}"))
            for number in range(1, SEATS - len(BOTS) + 1)
        ]
        host, *guests = players
        table = host.create_table(game=GAME, seat_count=SEATS, options=OPTIONS, bots=BOTS).table
        for guest in guests:
            guest.join_table(invite_code=table.invite_code)
        for player in players:
            player.set_ready(table_id=table.table_id)
        seats = [0, *range(1 + len(BOTS), SEATS)]
        tables = {
            seat: stack.enter_context(player.play_table(table.table_id))
            for seat, player in zip(seats, players, strict=True)
        }
        sequence = 0
        for seat, recorded in ACTIONS:
            to_act = wait_for_seats(tables, sequence)
            if not to_act:
                break
            acting = tables[seat if seat in to_act else to_act[0]]
            assert acting.wait_for_turn(timeout_seconds=WAIT_SECONDS)
            sequence = acting.submit_action(choose(acting, ParseDict(recorded, Action())))
        for each in tables.values():
            while each.sequence < sequence:
                each.wait_for_change(timeout_seconds=WAIT_SECONDS)


def wait_for_seats(tables: dict[int, BlockingTable], sequence: int) -> list[int]:
    """Return the players' seats that are to act after an entry of the table; none once the game is over."""
    watched = tables[0]
    while True:
        seen = watched.sequence
        to_act = [seat for seat in watched.view.seats_to_act if seat in tables]
        if watched.is_finished or (seen >= sequence and to_act):
            return to_act
        watched.wait_for_change(after=seen, timeout_seconds=WAIT_SECONDS)


def choose(table: BlockingTable, recorded: Action) -> Action:
    """Return the recorded action if it is listed as legal, else a legal one, of the same verb if there is one."""
    legal = [*table.legal_actions.actions, *(choose_random_action(table, Random(seed)) for seed in range(20))]
    alike = [action for action in legal if action.WhichOneof("verb") == recorded.WhichOneof("verb")]
    return recorded if recorded in legal else (alike or legal)[0]
`}function C(e){return e===null?`None`:typeof e==`boolean`?e?`True`:`False`:typeof e==`object`?e instanceof Array?`[${e.map(C).join(`, `)}]`:`{${Object.entries(e).map(([e,t])=>`${C(e)}: ${C(t)}`).join(`, `)}}`:JSON.stringify(e)}function w({label:e,placeholder:t,write:n}){let r=a(null),[i,o]=d(!1);return y(c,{children:[y(`button`,{type:`button`,onClick:()=>{r.current!==null&&(r.current.value=n(),r.current.select(),o(document.execCommand(`copy`)))},children:e}),y(`textarea`,{ref:r,readOnly:!0,rows:3,placeholder:t,spellcheck:!1}),i&&y(`p`,{role:`status`,children:`Copied`})]})}var T=36e5;async function E(e,t){let r=[];for(let i=1;i<=t;i+=1)r.push(await n(e,{name:`Seat ${i}`,store:x(i),language:`en`}));return r}function D([e]){if(e===void 0)throw Error(`no players`);return e}async function O(e,n,a){let o=Math.max(n.minSeats,Math.min(e.length,n.maxSeats)),c=e.slice(0,o),l=D(c),u={actionTime:i(T),botDelay:i(500)},d=await r(l,{game:n.game,seats:o,bots:o-c.length,options:a,timeControl:u}),{inviteCode:f}=await t(l,{tableId:d});for(let e of c.slice(1))await b(e,{inviteCode:f});for(let e of c)await e.lobby.setReady({tableId:d},s(d));return t(l,{tableId:d})}function k({games:e,deal:t}){let[n,r]=d(e[0]?.game),[i,a]=d({}),o=e.find(e=>e.game===n);if(o===void 0)return null;let s=e=>{r(e),a({})};return y(`form`,{onSubmit:e=>{e.preventDefault(),t(o,i)},children:[y(`div`,{class:`dev-row`,children:[y(`select`,{"aria-label":`Game`,value:n,onChange:({currentTarget:e})=>s(e.value),children:e.map(e=>y(`option`,{value:e.game,children:e.name},e.game))}),y(`button`,{type:`submit`,children:`New table`})]}),o.options.length>0&&y(`details`,{children:[y(`summary`,{children:`Options`}),y(v,{game:o,words:new l(o,`en`),options:i,change:a})]})]})}var A=500,j=5e3,M=class{changed;entries=new Map;taken=new Map;count=0;constructor(e){this.changed=e}get actions(){return[...this.taken].sort(([e],[t])=>e-t).map(([,e])=>e)}clear(){this.entries.clear(),this.taken.clear()}of(e){return this.entries.get(e)??[]}message(e,{isSent:t,json:n}){let r=`${t?`→`:`←`} ${N(n)}`,i={number:this.count+=1,time:new Date,title:r,text:JSON.stringify(n,null,2)};this.entries.set(e,[i,...this.of(e)].slice(0,A)),this.changed()}action(e,{sequence:t,action:n}){this.taken.size<j&&this.taken.set(t,{page:e,action:n}),this.changed()}};function N(e){if(typeof e!=`object`||!e||Array.isArray(e))return``;let{tableEvent:t,...n}=e;return[t??{},n].flatMap(e=>Object.keys(e)).join(`, `)}var P={isCut:!1,delayMilliseconds:0},F=class{recording=new M(()=>this.changed());lines=new Map;switches=new Map;changed=()=>{};subscribe(e){return this.changed=e,()=>void(this.changed=()=>{})}attach(e,t){t.set(this.of(e)),this.lines.set(e,t)}recorder(e){return{message:t=>this.recording.message(e,t),action:t=>this.recording.action(e,t)}}of(e){return this.switches.get(e)??P}set(e,t){let n={...this.of(e),...t};this.switches.set(e,n),this.lines.get(e)?.set(n),this.changed()}},I=360,L=[[0,`no delay`],[300,`300 ms`],[2e3,`2 s`]];function R({page:e,tableId:t,lines:n}){let r=a(null),{isCut:i,delayMilliseconds:o}=n.of(e);return z(r),y(`section`,{class:`dev-seat`,"aria-label":`Seat ${e}`,"data-cut":i,children:[y(`header`,{children:[y(`b`,{children:e}),y(`button`,{type:`button`,"aria-pressed":i,onClick:()=>n.set(e,{isCut:!i}),children:i?`Heal`:`Cut`}),y(`select`,{"aria-label":`Delay in each direction`,value:o,onChange:({currentTarget:t})=>n.set(e,{delayMilliseconds:Number(t.value)}),children:L.map(([e,t])=>y(`option`,{value:e,children:t},e))}),y(`button`,{type:`button`,onClick:()=>r.current?.contentWindow?.location.reload(),children:`Kill`})]}),y(`div`,{class:`dev-page`,children:y(`iframe`,{ref:r,title:`The page of seat ${e}`,src:`./?seat=${e}${p({screen:`table`,id:t,link:``})}`})})]})}function z(e){_(()=>{let t=e.current?.parentElement;if(!t)return;let n=new ResizeObserver(()=>e.current?.style.setProperty(`--scale`,`${Math.min(1,t.clientWidth/I)}`));return n.observe(t),()=>n.disconnect()},[])}function B({pages:e,shown:t,show:n,entries:r}){return y(c,{children:[y(`div`,{class:`dev-row`,role:`group`,"aria-label":`The stream of seat`,children:e.map(e=>y(`button`,{type:`button`,"aria-pressed":e===t,onClick:()=>n(e),children:e},e))}),y(`ol`,{class:`dev-stream`,children:r.map(({number:e,time:t,title:n,text:r})=>y(`li`,{children:y(`details`,{children:[y(`summary`,{children:[y(`time`,{children:t.toLocaleTimeString(`en-GB`)}),` `,n]}),y(`pre`,{children:r})]})},e))})]})}var V=2,H=8;function U(t,n){let r=Math.max(V,Math.min(n,H)),i=new F;window.croupierPanel=i,e(y(W,{count:r,lines:i}),t)}function W({count:e,lines:t}){let{entered:n,table:r,fault:i,deal:a}=G(e,t),[s,c]=d(1),[,l]=f(e=>e+1,0);o(()=>t.subscribe(()=>l()),[t]);let u=Array.from({length:e},(e,t)=>t+1),{recording:p}=t;return y(`div`,{class:`dev`,children:[y(`div`,{class:`dev-seats`,"data-columns":Math.min(e,4),children:n&&r&&u.filter(e=>J(n,r,e)>=0).map(e=>y(R,{page:e,tableId:r.tableId,lines:t},`${r.tableId} ${e}`))}),y(`aside`,{class:`dev-panel`,children:[n?y(k,{games:n.games,deal:a}):y(`p`,{role:`status`,children:`Signing in…`}),i!==``&&y(`p`,{role:`alert`,class:`fault`,children:i}),n&&r&&y(w,{label:`Copy as test (${p.actions.length} actions)`,placeholder:`A test in Python, of the actions so far`,write:()=>Y(n,r,p)},r.tableId),y(B,{pages:u,shown:s,show:c,entries:p.of(s)})]})]})}function G(e,{recording:t}){let[n,r]=d(),[i,a]=d(),[s,c]=d(``),l=e=>c(h(e,void 0,m(`en`))),u=e=>{e!==void 0&&(t.clear(),history.replaceState(null,``,p({screen:`table`,id:e.tableId,link:``})),c(``),a(e))};return o(()=>{K(e).then(e=>(r(e),q(e))).then(u).catch(l)},[e]),{entered:n,table:i,fault:s,deal:(e,t)=>n&&void O(n.connections,e,t).then(u,l)}}async function K(e){let t=await E(location.origin,e),{games:n}=await u(D(t),e);return{connections:t,games:n}}async function q({connections:e,games:n}){let r=g(location.hash);if(r.screen===`table`)return t(D(e),{tableId:r.id});let i=r.screen===`new`?n.find(e=>e.game===r.game):void 0;return i&&O(e,i,{})}function J({connections:e},{seats:t},n){return t.findIndex(({playerId:t})=>t===e[n-1]?.session.player.playerId)}function Y(e,t,n){let{game:r,options:i={},seats:a}=t,o=n.actions.map(({page:n,action:r})=>({seat:J(e,t,n),action:r})),s=a.flatMap(({bot:e})=>e===``?[]:[e]);return S({address:new URL(location.origin),game:r,seatCount:a.length,options:i,bots:s,actions:o})}export{U as showPanel};